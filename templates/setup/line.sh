# --setup FILE|LINE, in $dts_value.
case $dts_value in
  */*) dts_file=$dts_value ;;
  *) dts_file=./$dts_value ;;
esac
if [ -f "$dts_file" ]; then . "$dts_file"; else dts_line=$LINENO && eval "$dts_value"; fi
