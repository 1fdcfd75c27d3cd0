"""Values and pure algorithms shared by every layer; standard library only."""
