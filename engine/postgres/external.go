package postgres

import (
	"context"

	"filewise"
)

func openExternal(ctx context.Context, t filewise.Target) (filewise.Server, error) {
	return nil, filewise.ErrUnsupported
}
func externalScript(t filewise.Target, l filewise.Layout, p filewise.Program) (filewise.Script, error) {
	return filewise.Script{}, filewise.ErrUnsupported
}
