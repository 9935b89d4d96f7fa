from tests.models.conftest import bedrock_server, fake

__all__ = ["bedrock_server", "fake"]
