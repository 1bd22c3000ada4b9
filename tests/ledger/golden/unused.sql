PRAGMA application_id = 1148412786;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    previous TEXT NOT NULL,
    digest TEXT NOT NULL
);
INSERT INTO "entries" VALUES(1,'budget','{"cap":{"delta":"1/1000000","epsilon":"1","measure":"approximate"},"id_space":"people"}','0000000000000000000000000000000000000000000000000000000000000000','000ef9fa7c56845660cce7a3f71eb6c6db91a8f37f11e52ebf43f202c6595651');
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
INSERT INTO "subjects" VALUES('budget','["id_space","people"]',1);
CREATE TRIGGER entries_update BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER entries_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER entries_replace BEFORE INSERT ON entries
    WHEN EXISTS (SELECT 1 FROM entries WHERE sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, 'entries can only be added to'); END;
CREATE TRIGGER subjects_update BEFORE UPDATE ON subjects BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER subjects_delete BEFORE DELETE ON subjects BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER subjects_replace BEFORE INSERT ON subjects
    WHEN EXISTS (SELECT 1 FROM subjects WHERE kind = NEW.kind AND subject = NEW.subject AND sequence = NEW.sequence) BEGIN SELECT RAISE(ABORT, 'subjects can only be added to'); END;
CREATE TRIGGER releases_update BEFORE UPDATE ON releases BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER releases_delete BEFORE DELETE ON releases BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER releases_replace BEFORE INSERT ON releases
    WHEN EXISTS (SELECT 1 FROM releases WHERE ticket = NEW.ticket) BEGIN SELECT RAISE(ABORT, 'releases can only be added to'); END;
CREATE TRIGGER salts_update BEFORE UPDATE ON salts BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
CREATE TRIGGER salts_delete BEFORE DELETE ON salts BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
CREATE TRIGGER salts_replace BEFORE INSERT ON salts
    WHEN EXISTS (SELECT 1 FROM salts WHERE id_space = NEW.id_space AND version = NEW.version) BEGIN SELECT RAISE(ABORT, 'salts can only be added to'); END;
COMMIT;
