package store

import (
	"io"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"filewise"
	"filewise/experiment"
	"filewise/internal/jsonform"
)

// schemaTypes are texts of which there are few.
var schemaTypes = jsonform.Types{
	reflect.TypeFor[State]():          jsonform.OneOf(Running, Done, Interrupted, Failed),
	reflect.TypeFor[filewise.State](): jsonform.OneOf(filewise.Done, filewise.Failed),
	reflect.TypeFor[filewise.Mode]():  jsonform.OneOf(filewise.Embedded, filewise.Managed, filewise.External),
	reflect.TypeFor[experiment.Ending](): jsonform.OneOf(experiment.Decided, experiment.Futile, experiment.Spent,
		experiment.Broken),
}

// ExportJSONSchema writes the JSON Schema (draft 2020-12) of what ExportJSON writes.
func ExportJSONSchema(w io.Writer) error {
	root, err := jsonform.Of("A run of Filewise, as filewise export --format json writes it",
		"Every field is described in store/EXPORT.md. Names that end in _ns are nanoseconds.", schemaTypes, reflect.TypeFor[exported]())
	if err != nil {
		return err
	}
	var format, version any = ExportFormat, ExportSchema
	root.Properties["format"], root.Properties["schema"] = &jsonschema.Schema{Const: &format}, &jsonschema.Schema{Const: &version}
	return jsonform.Write(w, root)
}
