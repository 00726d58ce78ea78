package procs

func (p process) resources() use { return use{p.cpu, p.rss} }
