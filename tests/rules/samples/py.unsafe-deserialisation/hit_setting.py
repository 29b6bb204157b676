import yaml


class Settings:
    loader = yaml.UnsafeLoader


class Importer:
    settings = Settings

    def read(self, document):
        return yaml.load(document, Loader=self.settings.loader)  # HIT[medium]
