// Package session is the one machine behind the sessions of all server engines. It keeps
// to the limit of unique keys, and has the server loop over operations in one call or sends
// them one by one. It ends what runs when the context ends, and waits for that end. It finds
// out what is committed after an error or a lost connection.
//
// An engine joins in like this:
//
//	func (c connector) Connect(ctx context.Context, phase, worker int) (filewise.Session, error) {
//		machine, err := session.New(c.program, phase, worker) // refuses what is no phase of work
//		if err != nil {
//			return nil, err
//		}
//		w := &conn{Session: machine}
//		w.statements, err = session.Render(machine.Phase, w.render)      // by type of operation
//		machine.Engine = session.Engine{Call: w.call, Rollback: w.rollback, …}
//		return w, errors.Join(err, …)                                    // open, prepare
//	}
//
// Call is for phases whose operations the server loops over, One for the client's
// operations; exactly one of them is given. Of the other functions a nil one is a thing
// that the server does not need or have; each describes what its absence means.
package session
