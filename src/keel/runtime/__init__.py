"""The run time: a bundle is opened, its servers are compared, and every call goes through one pipeline."""
