import yaml
from yaml import CSafeLoader
from yaml import SafeLoader as Loader


class Strict(yaml.SafeLoader):
    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            raise ValueError("no aliases")
        return super().compose_node(parent, index)


class Quick(CSafeLoader):
    pass


class Named(Loader):
    pass


class FullLoader(yaml.BaseLoader):
    """Named as an unsafe one, and reads texts alone."""


def playbooks(path):
    return list(yaml.load_all(path.read_bytes(), Loader=Strict))


def quickly(text):
    return yaml.load(text, Loader=Quick)


def named(text):
    return yaml.load(text, Loader=Named)


def texts(text):
    return yaml.load(text, Loader=FullLoader)


def by_hand(text):
    loader = Strict(text)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()
