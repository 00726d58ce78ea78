bash ~/bin/ask.sh auth_method
