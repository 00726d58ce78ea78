cat docs/protocols.md
