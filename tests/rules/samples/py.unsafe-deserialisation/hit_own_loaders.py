import yaml
from yaml import FullLoader
from yaml.cyaml import CLoader as Fast


class Strict(yaml.Loader):
    """Refuses aliases, not tags."""

    def compose_node(self, parent, index):
        if self.check_event(yaml.AliasEvent):
            raise ValueError("no aliases")
        return super().compose_node(parent, index)


class Included(Strict):
    pass


class Quick(Fast):
    pass


class Mixin:
    pass


class Ordered(Mixin, FullLoader):
    pass


Chosen = Included


def playbooks(path):
    return list(yaml.load_all(path.read_bytes(), Loader=Strict))  # HIT[high]


def documents(stream):
    return yaml.load(stream, Chosen)  # HIT[high]


def quickly(text):
    return yaml.load(text, Loader=Quick)  # HIT[high]


def in_order(text):
    return yaml.load(text, Loader=Ordered)  # HIT[high]


def by_hand(text):
    loader = Included(text)
    try:
        return loader.get_single_data()  # HIT[high]
    finally:
        loader.dispose()
