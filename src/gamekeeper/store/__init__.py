"""Environments on disk: folders of sorted, diffable JSON with a published schema. Begin with `folder`."""
