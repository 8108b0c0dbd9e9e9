// libssl.so.10 for .NET Core 3.1, which looks for OpenSSL 1 by that name: OpenSSL 3 has all else that it asks for. Its compiler takes hashes
// from there, so that without it nothing can be built.
struct evp_md_st;
struct ssl_st;
struct x509_st;

void ERR_new(void);
void ERR_set_debug(const char* file, int line, const char* function);
void ERR_set_error(int library, int reason, const char* format, ...);
int EVP_MD_get_size(const struct evp_md_st* digest);
struct x509_st* SSL_get1_peer_certificate(const struct ssl_st* connection);

void ERR_put_error(int library, int function, int reason, const char* file, int line);
int EVP_MD_size(const struct evp_md_st* digest);
struct x509_st* SSL_get_peer_certificate(const struct ssl_st* connection);

void ERR_put_error(int library, int function, int reason, const char* file, int line)
{
    (void)function;
    ERR_new();
    ERR_set_debug(file, line, 0);
    ERR_set_error(library, reason, 0);
}

int EVP_MD_size(const struct evp_md_st* digest) { return EVP_MD_get_size(digest); }

struct x509_st* SSL_get_peer_certificate(const struct ssl_st* connection) { return SSL_get1_peer_certificate(connection); }
