printf '{"signal_type":"PROGRESS","agent_id":"%s","payload":{"percent":%d,"step":"%s"}}\n' "$ID" 40 tests
