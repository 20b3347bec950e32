package dialect

import "filewise/engine/internal/server"

// The programs of logical dumps by several threads.
var (
	Mydumper = server.Binary{Names: []string{"mydumper"}, Places: []string{"/usr/bin", "/usr/local/bin"}, Package: "mydumper"}
	Myloader = server.Binary{Names: []string{"myloader"}, Places: Mydumper.Places, Package: Mydumper.Package}
)
