/* C linkage for the declarations of a public header that a C++ program includes. */
#ifndef BZ_RUNTIME_CDECL_H
#define BZ_RUNTIME_CDECL_H

#ifdef __cplusplus
#define BZ_BEGIN_DECLS extern "C" {
#define BZ_END_DECLS }
#else
#define BZ_BEGIN_DECLS
#define BZ_END_DECLS
#endif

#endif
