"""The report: what a campaign or one run found, as a page that needs nothing else and nobody to explain it.

`pages.render` takes a comparison and one example per variant, `pages.render_run` a single run; the values they take are in `model`.
Only the pages need more than the standard library, so nothing here imports them: a comparison can be printed without.
"""
