package filewise

import "context"

// Refusal is a statement that a server refused, as strangers may read it.
type Refusal struct {
	// Statement has ? in the place of literals, and of names that are not in Filewise's own SQL.
	Statement string `json:"statement"`
	Code      string `json:"code"` // the server's, such as 42501; of several errors "3013,3201"
}

type seesRefusals struct{}

// SeeRefusals returns a context under which engines report each statement that their servers refuse.
// see must be safe for concurrent use.
func SeeRefusals(ctx context.Context, see func(Refusal)) context.Context {
	return context.WithValue(ctx, seesRefusals{}, see)
}

// SeesRefusals returns whom engines report refusals to, or nil.
func SeesRefusals(ctx context.Context) func(Refusal) {
	see, _ := ctx.Value(seesRefusals{}).(func(Refusal))
	return see
}
