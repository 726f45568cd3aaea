# --venv FOLDER, in $dts_value.
dts_venv() { . "$1/bin/activate"; }
dts_venv "$dts_value"
