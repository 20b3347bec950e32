{{- if .Unmarked}}
IF EXISTS (SELECT 1 FROM {{ident .Name}}.sys.extended_properties WHERE class = 0)
  OR EXISTS (SELECT 1 FROM {{ident .Name}}.sys.objects WHERE is_ms_shipped = 0)
{{- else}}
IF NOT EXISTS (SELECT 1 FROM {{ident .Name}}.sys.extended_properties WHERE class = 0 AND name = N'filewise'
  AND CAST(value AS nvarchar(3500)) COLLATE Latin1_General_BIN2 = {{literal .Mark}})
{{- end}}
BEGIN;
  THROW 50002, N'the database does not carry Filewise''s mark: nothing of it is changed', 1;
END;
