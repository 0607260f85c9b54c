"""The page and the service of ``crossarc serve``: a person corrects parses, programs ask for them."""
