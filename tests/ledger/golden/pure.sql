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
INSERT INTO "entries" VALUES(1,'budget','{"cap":{"epsilon":"3","measure":"pure"},"id_space":"people"}','0000000000000000000000000000000000000000000000000000000000000000','24f14fef247da98495cd7129c0fbc6f56e4b71a26c3a7d17b77ee76ccc9ed8d3');
INSERT INTO "entries" VALUES(2,'gate','{"deadline":null,"id_space":"people","suspend_after":3}','24f14fef247da98495cd7129c0fbc6f56e4b71a26c3a7d17b77ee76ccc9ed8d3','069b39ac33431863e4b2ad30474a85dffeb3bcf358ab05497271cc176a86b031');
INSERT INTO "entries" VALUES(3,'version','{"id_space":"people","number":1}','069b39ac33431863e4b2ad30474a85dffeb3bcf358ab05497271cc176a86b031','02cc154ad6ba717fb606ac47f9108670c3df7119980dd7e012951c01f87e4f58');
INSERT INTO "entries" VALUES(4,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/3","measure":"pure"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"plan"},"order_digest":"c865c28d77921779366a4fafb5311d4a68f6bac27d6a53ade607d2c461137d79","reserved_at":"2026-05-04T09:00:07+00:00","totals":[{"analyst":{"epsilon":"1/3","measure":"pure"},"everybody":{"epsilon":"1/3","measure":"pure"},"id_space":"people","open":[]}]}','02cc154ad6ba717fb606ac47f9108670c3df7119980dd7e012951c01f87e4f58','04431c434c7eab011c36cf2b5c43300f66751475d389571c191f33dabc3fbb2f');
INSERT INTO "entries" VALUES(5,'commit','{"data_version":1,"plan_digest":"plan","release_digest":"79df0d9725cdf8f890aae9cf685ab7304e19ffd30dad2e84c8f0efac9522db55","ticket":4}','04431c434c7eab011c36cf2b5c43300f66751475d389571c191f33dabc3fbb2f','e42b4a8b177d124717b0c7010315261aa483a5965e7adb186f8c1a8f265da259');
INSERT INTO "entries" VALUES(6,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/7","measure":"pure"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"other"},"order_digest":"e8af1aa1cf9c6237312b9f75221f465635a0274477898103a861e1d5304e9d35","reserved_at":"2026-05-04T09:00:14+00:00","totals":[{"analyst":{"epsilon":"10/21","measure":"pure"},"everybody":{"epsilon":"10/21","measure":"pure"},"id_space":"people","open":[]}]}','e42b4a8b177d124717b0c7010315261aa483a5965e7adb186f8c1a8f265da259','bbafeb2f1bb32f82672dd1184392441eb78d0a864cc077773cae190f4900e4ef');
INSERT INTO "entries" VALUES(7,'fail','{"failures":[{"count":1,"id_space":"people"}],"ticket":6}','bbafeb2f1bb32f82672dd1184392441eb78d0a864cc077773cae190f4900e4ef','bf7abeed15cf56650d016f3465795ec9739b14b2a427bdffd2cee8c1e1d032cd');
INSERT INTO "entries" VALUES(8,'allocation','{"analyst":"ann","cap":{"epsilon":"2","measure":"pure"},"id_space":"people"}','bf7abeed15cf56650d016f3465795ec9739b14b2a427bdffd2cee8c1e1d032cd','daf20abf98132d3fc9f2235228d791de55ef74299d509a0e56fe4cfe9b0de666');
INSERT INTO "entries" VALUES(9,'allocation','{"analyst":"Zoë","cap":{"epsilon":"1/2","measure":"pure"},"id_space":"people"}','daf20abf98132d3fc9f2235228d791de55ef74299d509a0e56fe4cfe9b0de666','60efe5e18866ee1e08d68d5fd0c0e7fcc68cb0ba2f5bfc9862a496572b7c32c0');
INSERT INTO "entries" VALUES(10,'reserve','{"order":{"analyst":"Zoë","charges":[{"id_space":"people","loss":{"epsilon":"1/4","measure":"pure"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"third"},"order_digest":"d5e72f5a2e845beb4635b49b64189032e93427fdce194edf4467956cc3fd641f","reserved_at":"2026-05-04T09:00:21+00:00","totals":[{"analyst":{"epsilon":"1/4","measure":"pure"},"everybody":{"epsilon":"61/84","measure":"pure"},"id_space":"people","open":[]}]}','60efe5e18866ee1e08d68d5fd0c0e7fcc68cb0ba2f5bfc9862a496572b7c32c0','800322e40a11af85a3e37e2dc06facb0e2a801d90c3d12e97dd753afbe97a825');
INSERT INTO "entries" VALUES(11,'commit','{"data_version":1,"plan_digest":"third","release_digest":"8aeb9244778a192e85c1a07f34e31551c52bb7d3245efc15ea24070d6b9e367b","ticket":10}','800322e40a11af85a3e37e2dc06facb0e2a801d90c3d12e97dd753afbe97a825','766f8b8f0c9062e17c42d23499ce23dcd0b4fbc18ae9fa2bdce044875b692eda');
INSERT INTO "entries" VALUES(12,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/100","measure":"pure"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"abandoned"},"order_digest":"698df5df7b92bd1971f0cfa68555cc048cb757daba08d4d8ce06c7c38c7d55e8","reserved_at":"2026-05-04T09:00:28+00:00","totals":[{"analyst":{"epsilon":"1021/2100","measure":"pure"},"everybody":{"epsilon":"773/1050","measure":"pure"},"id_space":"people","open":[]}]}','766f8b8f0c9062e17c42d23499ce23dcd0b4fbc18ae9fa2bdce044875b692eda','1025d3d7dd05c340662897500f6a5936789f5081d1f8edca69dcc0684cada7e1');
INSERT INTO "entries" VALUES(13,'resume','{"id_space":"people"}','1025d3d7dd05c340662897500f6a5936789f5081d1f8edca69dcc0684cada7e1','8109464f06047ad41c291a0820d76d9b96994072cd6d8ac6d828555d8dc2a230');
INSERT INTO "entries" VALUES(14,'version','{"id_space":"people","number":2}','8109464f06047ad41c291a0820d76d9b96994072cd6d8ac6d828555d8dc2a230','9e8e13dc6316ba4a230333d5cb619e07fd091ad8bfe2ff253958896ccbfb1b07');
INSERT INTO "entries" VALUES(15,'budget','{"cap":{"epsilon":"4","measure":"pure"},"id_space":"people"}','9e8e13dc6316ba4a230333d5cb619e07fd091ad8bfe2ff253958896ccbfb1b07','60e0f47b94cd3e748070c5af8b6f8572503bc4a51f6f73a220de6d305505f734');
INSERT INTO "entries" VALUES(16,'reserve','{"order":{"analyst":"ann","charges":[{"id_space":"people","loss":{"epsilon":"1/5","measure":"pure"}}],"data_version":1,"description":{"event":{"is":"LaplaceEvent"},"sql":"SELECT COUNT(*) FROM visits"},"plan_digest":"fourth"},"order_digest":"5b12327f4cd92d4e1a41a9f51f765ae57a80d1270e413ec280410cf05daf3b99","reserved_at":"2026-05-04T11:00:42+00:00","totals":[{"analyst":{"epsilon":"1441/2100","measure":"pure"},"everybody":{"epsilon":"983/1050","measure":"pure"},"id_space":"people","open":[]}]}','60e0f47b94cd3e748070c5af8b6f8572503bc4a51f6f73a220de6d305505f734','4bdb73e63029f76390da5ee443dfa4cb06b8e232d53964c7f7cab4eb758ceded');
INSERT INTO "entries" VALUES(17,'commit','{"data_version":1,"plan_digest":"fourth","release_digest":"5dfc39620b091dea64270d9c9626b1613e3f5b4e9be2e12b580ef5574302a355","ticket":16}','4bdb73e63029f76390da5ee443dfa4cb06b8e232d53964c7f7cab4eb758ceded','a1f74455b7fec2de2b244d584dfb61d4026205b35dab2132de02a671cdb0e944');
CREATE TABLE releases (
    ticket INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);
INSERT INTO "releases" VALUES(4,'{"rows":[["a",3],["b",-1]]}');
INSERT INTO "releases" VALUES(10,'{"rows":[["é",5]]}');
INSERT INTO "releases" VALUES(16,'{"batch":[{"rows":[]}]}');
CREATE TABLE salts (
    id_space TEXT NOT NULL,
    version INTEGER NOT NULL,
    salt BLOB NOT NULL,
    PRIMARY KEY (id_space, version)
);
INSERT INTO "salts" VALUES('people',1,X'AAE74A057A5DA7C519CA42ADE02E26E586A90E74DFFAAF2BFB36E8268896E81F');
INSERT INTO "salts" VALUES('people',2,X'CAACDEBAF6DC76F4D4DB94B00B218843BFFD74A20EF4ADE3EC5549ED34312931');
CREATE TABLE subjects (
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    sequence INTEGER NOT NULL REFERENCES entries,
    PRIMARY KEY (kind, subject, sequence)
) WITHOUT ROWID;
INSERT INTO "subjects" VALUES('allocation','["id_space","people"]',8);
INSERT INTO "subjects" VALUES('allocation','["id_space","people"]',9);
INSERT INTO "subjects" VALUES('allocation','["share","people","Zoë"]',9);
INSERT INTO "subjects" VALUES('allocation','["share","people","ann"]',8);
INSERT INTO "subjects" VALUES('budget','["id_space","people"]',1);
INSERT INTO "subjects" VALUES('budget','["id_space","people"]',15);
INSERT INTO "subjects" VALUES('commit','["release","fourth","1"]',17);
INSERT INTO "subjects" VALUES('commit','["release","plan","1"]',5);
INSERT INTO "subjects" VALUES('commit','["release","third","1"]',11);
INSERT INTO "subjects" VALUES('commit','["ticket","10"]',11);
INSERT INTO "subjects" VALUES('commit','["ticket","16"]',17);
INSERT INTO "subjects" VALUES('commit','["ticket","4"]',5);
INSERT INTO "subjects" VALUES('fail','["id_space","people"]',7);
INSERT INTO "subjects" VALUES('fail','["ticket","6"]',7);
INSERT INTO "subjects" VALUES('gate','["id_space","people"]',2);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',4);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',6);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',10);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',12);
INSERT INTO "subjects" VALUES('reserve','["id_space","people"]',16);
INSERT INTO "subjects" VALUES('reserve','["share","people","Zoë"]',10);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',4);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',6);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',12);
INSERT INTO "subjects" VALUES('reserve','["share","people","ann"]',16);
INSERT INTO "subjects" VALUES('reserve','["ticket","10"]',10);
INSERT INTO "subjects" VALUES('reserve','["ticket","12"]',12);
INSERT INTO "subjects" VALUES('reserve','["ticket","16"]',16);
INSERT INTO "subjects" VALUES('reserve','["ticket","4"]',4);
INSERT INTO "subjects" VALUES('reserve','["ticket","6"]',6);
INSERT INTO "subjects" VALUES('resume','["id_space","people"]',13);
INSERT INTO "subjects" VALUES('version','["id_space","people"]',3);
INSERT INTO "subjects" VALUES('version','["id_space","people"]',14);
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
