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
INSERT INTO "entries" VALUES(1,'budget','{"cap":{"delta":"1/1000000","measure":"approximate_zcdp","rho":"1/2","xi":"0"},"id_space":"people"}','0000000000000000000000000000000000000000000000000000000000000000','3f8722e395ef04e400c4d82aa630ba1f3be929f3e9901ca529e35e21581e26db');
INSERT INTO "entries" VALUES(2,'budget','{"cap":{"delta":"1/100000","measure":"approximate_zcdp","rho":"1","xi":"0"},"id_space":"calls"}','3f8722e395ef04e400c4d82aa630ba1f3be929f3e9901ca529e35e21581e26db','1eb41e1d18bd257d58bae2ca080eaa024267cb01059391c9994925a8886bb648');
INSERT INTO "entries" VALUES(3,'version','{"id_space":"people","number":1}','1eb41e1d18bd257d58bae2ca080eaa024267cb01059391c9994925a8886bb648','b013d582e82bea7caf8ac2c5c7ff19d2b8d853d611a2f0f9119e8bb961ad1d0e');
INSERT INTO "entries" VALUES(4,'version','{"id_space":"calls","number":1}','b013d582e82bea7caf8ac2c5c7ff19d2b8d853d611a2f0f9119e8bb961ad1d0e','1459f8bd4f940e991a35721d001691e4509b16cbc3de103ee3b5589e79505c6d');
INSERT INTO "entries" VALUES(5,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"}},{"id_space":"calls","loss":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"plan"},"order_digest":"a6b6a96fbe523032f61e0ca3ad58a68465af19f4b15502dc7eb6b7eb923367ff","reserved_at":"2026-05-04T09:00:07+00:00","totals":[{"analyst":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"},"everybody":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"},"id_space":"people","open":[]},{"analyst":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"},"everybody":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/100","xi":"0"},"id_space":"calls","open":[]}]}','1459f8bd4f940e991a35721d001691e4509b16cbc3de103ee3b5589e79505c6d','bb8f4937f9bfc7030addf3524023a5b992c4bd48542f53a51458da98bfb70d9f');
INSERT INTO "entries" VALUES(6,'commit','{"data_version":1,"plan_digest":"plan","release_digest":"28c5ff11cec6beea2bceb36f1357866d1e69701cbacf908fc8e38bd9856871f3","ticket":5}','bb8f4937f9bfc7030addf3524023a5b992c4bd48542f53a51458da98bfb70d9f','fb3dcb5387a3252b66f55dc0f1a8dde31fb9e7ee9989f767c13b4871b98ae36e');
INSERT INTO "entries" VALUES(7,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"calls","loss":{"delta":"1/1000000000","measure":"approximate_zcdp","rho":"1/50","xi":"0"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"keys"},"order_digest":"df68a5f91fef96c9b9fed751a2381e172893bf3d59926f910428d3154b7cc76d","reserved_at":"2026-05-04T09:00:14+00:00","totals":[{"analyst":{"delta":"1001/1000000000000","measure":"approximate_zcdp","rho":"3/100","xi":"0"},"everybody":{"delta":"1001/1000000000000","measure":"approximate_zcdp","rho":"3/100","xi":"0"},"id_space":"calls","open":[]}]}','fb3dcb5387a3252b66f55dc0f1a8dde31fb9e7ee9989f767c13b4871b98ae36e','6f9841cea05e16b335b1f56fdcf2d694b752e3edd0e83b8730461b659c440e86');
INSERT INTO "entries" VALUES(8,'commit','{"data_version":1,"plan_digest":"keys","release_digest":"61aa694897526536be2e549021eca45cdd2298af8d3fa7db9494a028447af3b9","ticket":7}','6f9841cea05e16b335b1f56fdcf2d694b752e3edd0e83b8730461b659c440e86','3e7da507935cbf68763bfa6c52016e79eac6d8f12331eb8792de7d2ddf48771d');
INSERT INTO "entries" VALUES(9,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/1000","xi":"0"}},{"id_space":"calls","loss":{"delta":"1/1000000000000","measure":"approximate_zcdp","rho":"1/1000","xi":"0"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"bad"},"order_digest":"94cfbf3c5fe85ceeaf84ebbdc5b9f84ed77a878586e4005cf81b034e359e6d23","reserved_at":"2026-05-04T09:00:21+00:00","totals":[{"analyst":{"delta":"1/500000000000","measure":"approximate_zcdp","rho":"11/1000","xi":"0"},"everybody":{"delta":"1/500000000000","measure":"approximate_zcdp","rho":"11/1000","xi":"0"},"id_space":"people","open":[]},{"analyst":{"delta":"501/500000000000","measure":"approximate_zcdp","rho":"31/1000","xi":"0"},"everybody":{"delta":"501/500000000000","measure":"approximate_zcdp","rho":"31/1000","xi":"0"},"id_space":"calls","open":[]}]}','3e7da507935cbf68763bfa6c52016e79eac6d8f12331eb8792de7d2ddf48771d','cf1989cc63aa6af5c88fa815a83740a9dae0c870139e6d3b857b3c97fb24c753');
INSERT INTO "entries" VALUES(10,'fail','{"failures":[{"count":1,"id_space":"people"},{"count":1,"id_space":"calls"}],"ticket":9}','cf1989cc63aa6af5c88fa815a83740a9dae0c870139e6d3b857b3c97fb24c753','f34ad1360cabac61c45909fedbad2c37e40a28c73cf55fd1070ca94d8d330ad2');
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
INSERT INTO "releases" VALUES(5,'{"rows":[[1]]}');
INSERT INTO "releases" VALUES(7,'{"rows":[[2]]}');
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
INSERT INTO "salts" VALUES('people',1,X'45F80BF4B54FE28AC061959383A5776812CA1B53C058F1E97847B5833A96A150');
INSERT INTO "salts" VALUES('calls',1,X'885E4C6CB894CD4EA8F3FA27E43BD9462BF629E7ECFF11D563E2A3D882E44281');
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
INSERT INTO "subjects" VALUES('budget','["id_space","calls"]',2);
INSERT INTO "subjects" VALUES('budget','["id_space","people"]',1);
INSERT INTO "subjects" VALUES('commit','["release","keys","1"]',8);
INSERT INTO "subjects" VALUES('commit','["release","plan","1"]',6);
INSERT INTO "subjects" VALUES('commit','["ticket","5"]',6);
INSERT INTO "subjects" VALUES('commit','["ticket","7"]',8);
INSERT INTO "subjects" VALUES('fail','["id_space","calls"]',10);
INSERT INTO "subjects" VALUES('fail','["id_space","people"]',10);
INSERT INTO "subjects" VALUES('fail','["ticket","9"]',10);
INSERT INTO "subjects" VALUES('reserve','["id_space","calls"]',5);
INSERT INTO "subjects" VALUES('reserve','["id_space","calls"]',7);
INSERT INTO "subjects" VALUES('reserve','["id_space","calls"]',9);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',5);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',9);
INSERT INTO "subjects" VALUES('reserve','["share","calls","ann"]',5);
INSERT INTO "subjects" VALUES('reserve','["share","calls","ann"]',7);
INSERT INTO "subjects" VALUES('reserve','["share","calls","ann"]',9);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',5);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',9);
INSERT INTO "subjects" VALUES('reserve','["ticket","5"]',5);
INSERT INTO "subjects" VALUES('reserve','["ticket","7"]',7);
INSERT INTO "subjects" VALUES('reserve','["ticket","9"]',9);
INSERT INTO "subjects" VALUES('version','["id_space","calls"]',4);
INSERT INTO "subjects" VALUES('version','["id_space","people"]',3);
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
