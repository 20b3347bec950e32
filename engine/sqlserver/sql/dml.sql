-- Workload dml on SQL Server: single rows by key, in a loop on the server where
-- every statement commits by itself, or as statements of the client's. Row k
-- follows from k by the formula in package workload.

-- name: tables
CREATE TABLE dbo.fw_dml ([key] int NOT NULL, random_int int NOT NULL, random_float float NOT NULL) ON [PRIMARY];
{{- if .Index}}
CREATE UNIQUE INDEX fw_dml_key ON dbo.fw_dml ([key]) ON {{ident .IndexPlace}};
{{- end}}

-- name: procedure-insert whole
-- One call does operations @first … @first + @amount − 1 of a worker.
CREATE PROCEDURE dbo.fw_insert @worker bigint, @first bigint, @amount bigint
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @i bigint = @first;
  DECLARE @end bigint = @first + @amount;
  DECLARE @k bigint;
  DECLARE @x bigint;
  WHILE @i < @end
  BEGIN
    SET @k = @i * {{.Connections}} + @worker + 1;
    SET @x = (@k % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}};
    INSERT INTO dbo.fw_dml ([key], random_int, random_float) VALUES (@k, @x, CAST(@x % {{.FloatSteps}} AS float) / {{.FloatSteps}});
    SET @i += 1;
  END;
END;

-- name: procedure-select whole
CREATE PROCEDURE dbo.fw_select @worker bigint, @first bigint, @amount bigint
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @i bigint = @first;
  DECLARE @end bigint = @first + @amount;
  DECLARE @k int;
  DECLARE @x int;
  DECLARE @y float;
  WHILE @i < @end
  BEGIN
    SET @k = (@i * {{.Connections}} + @worker) % {{.Rows}} + 1;
    SELECT @x = random_int, @y = random_float FROM dbo.fw_dml WHERE [key] = @k;
    IF @@ROWCOUNT <> 1
    BEGIN;
      THROW 50010, N'there is no row with that key', 1;
    END;
    SET @i += 1;
  END;
END;

-- name: procedure-update procedure-delete whole
CREATE PROCEDURE dbo.fw_{{op}} @worker bigint, @first bigint, @amount bigint
AS
BEGIN
  SET NOCOUNT ON;
  SET XACT_ABORT ON;
  DECLARE @i bigint = @first;
  DECLARE @end bigint = @first + @amount;
  DECLARE @k int;
  {{- if eq op "update"}}
  DECLARE @x bigint;
  {{- end}}
  WHILE @i < @end
  BEGIN
    SET @k = @i * {{.Connections}} + @worker + 1;
    {{- if eq op "update"}}
    SET @x = (CAST(@k AS bigint) % {{.Modulus}} * {{.A}} + {{.B}}) % {{.Modulus}};
    UPDATE dbo.fw_dml SET random_int = {{.Modulus}} - 1 - @x WHERE [key] = @k;
    {{- else}}
    DELETE FROM dbo.fw_dml WHERE [key] = @k;
    {{- end}}
    IF @@ROWCOUNT <> 1
    BEGIN;
      THROW 50010, N'there is no row with that key', 1;
    END;
    SET @i += 1;
  END;
END;

-- name: call-insert call-select call-update call-delete
EXEC dbo.fw_{{op}} @worker = @p1, @first = @p2, @amount = @p3;

-- name: statement-insert
-- The client's parameters are of type bigint: the column is not.
INSERT INTO dbo.fw_dml ([key], random_int, random_float) VALUES (CAST(@p1 AS int), CAST(@p2 AS int), @p3);

-- name: statement-select whole
SELECT random_int, random_float FROM dbo.fw_dml WHERE [key] = CAST(@p1 AS int);
IF @@ROWCOUNT <> 1
BEGIN;
  THROW 50010, N'there is no row with that key', 1;
END;

-- name: statement-update statement-delete whole
{{if eq op "update"}}UPDATE dbo.fw_dml SET random_int = CAST(@p2 AS int){{else}}DELETE FROM dbo.fw_dml{{end}} WHERE [key] = CAST(@p1 AS int);
IF @@ROWCOUNT <> 1
BEGIN;
  THROW 50010, N'there is no row with that key', 1;
END;

-- name: committed-insert
-- Whether an operation is committed, by its arguments, for calls that were
-- interrupted. Of a select nothing tells.
SELECT COUNT_BIG(*) AS found FROM dbo.fw_dml WHERE [key] = CAST(@p1 AS int);

-- name: committed-update
SELECT COUNT_BIG(*) AS found FROM dbo.fw_dml WHERE [key] = CAST(@p1 AS int) AND random_int = CAST(@p2 AS int);

-- name: committed-delete
SELECT 1 - COUNT_BIG(*) AS found FROM dbo.fw_dml WHERE [key] = CAST(@p1 AS int);

-- name: check
SELECT COUNT_BIG(*), SUM(CAST([key] AS bigint)), SUM(CAST(random_int AS bigint)), SUM(CAST(random_float * {{.FloatSteps}} AS bigint)) FROM dbo.fw_dml;
