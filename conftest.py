"""What pytest leaves out where an optional extra is not installed."""

from importlib.util import find_spec

# Their examples call OpenDP.
collect_ignore = (
    []
    if find_spec("opendp")
    else [
        "sensitivity_lab/interop_opendp.py",
        "sensitivity_lab/audits/opendp/call.py",
        "sensitivity_lab/audits/opendp/measurement.py",
    ]
)
# They make widgets.
if not find_spec("ipywidgets"):
    collect_ignore += ["sensitivity_lab/explorer/call.py", "sensitivity_lab/explorer/panel.py"]
