-- Workload inserts on SQL Server. The server itself generates the rows, by the
-- formula in package workload: q = i × connections + worker numbers the row, x
-- and y follow from it. Values stay below 2^62, within a bigint. Sections are
-- executed on connections that have logged in to the build's database.

-- name: tables
{{range .Tables}}
CREATE TABLE dbo.{{ident .Name}} (
  id bigint {{if eq $.Key "identity"}}IDENTITY(1, 1) NOT NULL,
  row_id bigint{{end}} NOT NULL,
  payload {{$.PayloadType}} COLLATE Latin1_General_BIN2 NOT NULL,
  CONSTRAINT {{ident .Key}} PRIMARY KEY {{if $.Indexes}}NONCLUSTERED{{else}}CLUSTERED{{end}} (id)
    {{- if eq $.Indexes "apart"}} ON {{ident $.IndexGroup}}{{else if eq $.Indexes "together"}} ON [PRIMARY]{{end}}
) ON [PRIMARY];
{{end}}
CREATE TABLE dbo.fw_pool (pool varchar(max) COLLATE Latin1_General_BIN2 NOT NULL) ON [PRIMARY];

-- name: pool
INSERT INTO dbo.fw_pool (pool) VALUES (@p1);

-- name: procedure-insert whole
CREATE PROCEDURE dbo.{{ident .Procedure}} @worker bigint, @first bigint, @amount bigint
AS
BEGIN
  -- Inserts rows @first … @first + @amount − 1 of a worker. A transaction has
  -- {{.CommitEvery}} rows; with one row each, every statement commits by itself.
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @pool varchar(max) = (SELECT pool FROM dbo.fw_pool);
  DECLARE @i bigint = @first;
  DECLARE @end bigint = @first + @amount;
  DECLARE @x bigint;
{{- if eq .Key "random"}}
  DECLARE @y bigint;
{{- end}}
{{- if gt .CommitEvery 1}}
  DECLARE @open_rows bigint = 0;
{{- end}}
  WHILE @i < @end
  BEGIN
{{- if gt .CommitEvery 1}}
    IF @open_rows = 0 BEGIN TRANSACTION;
{{- end}}
    SET @x = ((@i * {{.Connections}} + @worker) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}};
{{- if eq .Key "random"}}
    SET @y = @x * @x % {{.Modulus}};
    INSERT INTO dbo.{{ident .TableName}} (id, payload) VALUES (
      @y * @y % {{.Modulus}} * @x % {{.Modulus}} + 1,
      SUBSTRING(@pool, @y % {{.PoolSpan}} + 1, {{.RowBytes}}));
{{- else}}
    INSERT INTO dbo.{{ident .TableName}} ({{if eq .Key "identity"}}row_{{end}}id, payload) VALUES (
      @i * {{.Connections}} + @worker + 1,
      SUBSTRING(@pool, @x * @x % {{.Modulus}} % {{.PoolSpan}} + 1, {{.RowBytes}}));
{{- end}}
    SET @i += 1;
{{- if gt .CommitEvery 1}}
    SET @open_rows += 1;
    IF @open_rows = {{.CommitEvery}}
    BEGIN
      COMMIT TRANSACTION;
      SET @open_rows = 0;
    END;
{{- end}}
  END;
{{- if gt .CommitEvery 1}}
  IF @open_rows > 0 COMMIT TRANSACTION;
{{- end}}
END;

-- name: call-insert
EXEC dbo.{{ident .Procedure}} @worker = @p1, @first = @p2, @amount = @p3;

-- name: committed-insert
SELECT COUNT_BIG(*) AS found FROM dbo.{{ident .TableName}} WHERE {{if eq .Key "identity"}}row_{{end}}id = @p1;

-- name: check
{{range .Tables}}
SELECT {{if eq $.Key "identity"}}row_id AS {{end}}id, payload FROM dbo.{{ident .Name}};
{{end}}

-- name: rebuild
{{range .Tables}}
ALTER TABLE dbo.{{ident .Name}} REBUILD;
{{end}}
