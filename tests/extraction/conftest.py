from tests.models.conftest import bedrock_server, fake, silent

__all__ = ["bedrock_server", "fake", "silent"]
