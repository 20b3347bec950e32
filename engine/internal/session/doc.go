// Package session implements the sessions of all server engines. It keeps to the limit of unique keys. It has the server
// loop over operations in one call, or sends them one by one. If the context ends, it ends what runs and waits for that.
// After an error or a lost connection it finds out which operations are committed.
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
// Exactly one of Call and One is given: Call if the server loops over a phase's operations, One if the client executes
// them. Of the other functions, one that the server does not need or have can be nil; its comment gives the meaning of nil.
package session
