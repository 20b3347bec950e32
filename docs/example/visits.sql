-- name: tables
CREATE TABLE {{ident .TableName}} (id INTEGER PRIMARY KEY, page INTEGER NOT NULL);

-- name: statement-visit
INSERT INTO {{ident .TableName}} (id, page) VALUES (?1, ?2);

-- name: check
SELECT count(*), coalesce(sum(page), 0) FROM {{ident .TableName}};
