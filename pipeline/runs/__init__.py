"""One run of a campaign: what is asked, how it is carried out, and within which limits."""
