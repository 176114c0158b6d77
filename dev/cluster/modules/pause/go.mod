module sekisho.dev/dev/cluster/pause

go 1.25.0
