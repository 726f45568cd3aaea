# --venv FOLDER, in $dts_value.
dts_venv() {
  if [ ! -r "$1/bin/activate" ]; then
    echo "no file $1/bin/activate on this node, in $PWD: --venv takes the folder of a virtual environment" >&2
    return 1
  fi
  # With another Python of PATH, the program would not find its packages. That of a container's image is not seen from here.
  if [ -z "$dts_container" ] && [ ! -x "$1/bin/python" ]; then
    echo "$1/bin/python cannot be run on this node: it is $(readlink -m -- "$1/bin/python")" >&2
    return 1
  fi
  . "$1/bin/activate"
}
dts_venv "$dts_value"
