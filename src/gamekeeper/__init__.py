"""Gamekeeper: a workbench for statistical disclosure control that takes the intruder's side.

Stage one, key variable mapping, is here: describe the forms out there, and see which variables of
a planned release an intruder could match on, and at which level of detail::

    import gamekeeper as gk

    environment = gk.read_environment("environment")
    outcome = gk.map_key_variables(environment, "Census", prevalence="10%")

A team keeps its environment in a store, with history and undo::

    with gk.EnvironmentStore.open("norland.gk") as store:
        store.apply([gk.edits.RenameForm(form="Bank", to="Bank (2031)")], who="ann")

Stage two attacks a file that may be released::

    people = gk.code_source(gk.open_source("people.csv"), ["Age", "Sex", "Region"])
    keys = gk.count_keys(people, ["Age", "Sex", "Region"], fraction="2%")
    risk = gk.assess_uniques(keys)
    risk.sentences(), risk.explain(17)

or tables of counts::

    release = gk.read_counts("rounded.csv", scheme="conventional:3")
    gk.bound_cells(release).sentences(), gk.infer_attributions(release).sentences()
"""


def __getattr__(name: str) -> object:
    # Reading the stub takes as long as starting Python does, and no command needs it. So it waits
    # until one of its names is asked for.
    import lazy_loader

    names = lazy_loader.attach_stub(__name__, __file__)
    globals().update(zip(("__getattr__", "__dir__", "__all__"), names, strict=True))
    return names[2] if name == "__all__" else names[0](name)


def __dir__() -> list[str]:
    __getattr__("__all__")
    return list(globals()["__all__"])
