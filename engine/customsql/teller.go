package customsql

import (
	"runtime"

	"filewise"
)

// Teller passes on the statements of a log in order, with their keys. As many goroutines as there are processors make
// keys. Only one of them at a time calls the function that receives the statements.
type Teller struct {
	next        *batch
	work, order chan *batch
	spent       chan *batch // for further statements
	over        chan struct{}
}

// batch is a group of statements, and their results.
type batch struct {
	given, made []filewise.LoggedStatement
	bytes       int
	done        chan struct{}
}

// batchStatements and batchBytes are the statements, and their bytes, at which a batch is passed on.
const batchStatements, batchBytes = 256, 256 << 10

// Teller begins to pass on. together shows that the statements of one text are one transaction.
func (r Rules) Teller(together bool, each func(filewise.LoggedStatement)) *Teller {
	n := runtime.GOMAXPROCS(0)
	t := &Teller{work: make(chan *batch, n), order: make(chan *batch, 2*n), spent: make(chan *batch, 4*n), over: make(chan struct{})}
	for range n {
		go func() {
			k := &known{Rules: r}
			for b := range t.work {
				made := func(s filewise.LoggedStatement) { b.made = append(b.made, s) }
				for _, s := range b.given {
					k.logged(s, together, made)
				}
				close(b.done)
			}
		}()
	}
	go func() {
		defer close(t.over)
		for b := range t.order {
			<-b.done
			for _, s := range b.made {
				each(s)
			}
			clear(b.given)
			clear(b.made)
			b.given, b.made, b.bytes = b.given[:0], b.made[:0], 0
			select {
			case t.spent <- b:
			default:
			}
		}
	}()
	return t
}

// Tell adds the next statement.
func (t *Teller) Tell(s filewise.LoggedStatement) {
	if t.next == nil {
		select {
		case t.next = <-t.spent:
		default:
			t.next = &batch{given: make([]filewise.LoggedStatement, 0, batchStatements), made: make([]filewise.LoggedStatement, 0, batchStatements)}
		}
		t.next.done = make(chan struct{})
	}
	b := t.next
	b.given, b.bytes = append(b.given, s), b.bytes+len(s.Text)
	if len(b.given) == batchStatements || b.bytes > batchBytes {
		t.pass()
	}
}

func (t *Teller) pass() {
	if t.next != nil {
		t.order <- t.next
		t.work <- t.next
		t.next = nil
	}
}

// Close passes on the last statements, and waits until they are received.
func (t *Teller) Close() {
	t.pass()
	close(t.work)
	close(t.order)
	<-t.over
}
