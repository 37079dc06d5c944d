"""What somebody is told while images are built."""


class Told(list):
    """All of it, but for the wait for other tests that build images."""

    def __call__(self, sentence):
        if not sentence.startswith("waiting for another command"):
            self.append(sentence)
