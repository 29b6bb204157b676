import yaml


class Settings:
    loader = yaml.SafeLoader


class Importer:
    settings = Settings

    def read(self, document):
        return yaml.load(document, Loader=self.settings.loader)
