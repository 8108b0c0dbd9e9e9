// A library with variables in static TLS. Copies of it take what the C library keeps of that for libraries that are opened late.
static __thread char room[INLAY_ROOM] __attribute__((tls_model("initial-exec"), aligned(8)));

char* inlay_test_room(void);
char* inlay_test_room(void) { return room; }
