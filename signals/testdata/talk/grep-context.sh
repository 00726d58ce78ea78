grep -rh -A4 '^\[STOP_WORK\]' docs
