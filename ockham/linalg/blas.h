// Private to linalg/: the functions of BLAS and LAPACK that libtorch does not offer in this form. They count by
// columns.
#pragma once

extern "C" {
double ddot_(const int* n, const double* x, const int* stride_x, const double* y, const int* stride_y);
void dgemm_(const char* transposed_a, const char* transposed_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb, const double* beta,
            double* c, const int* ldc);
void sgemm_(const char* transposed_a, const char* transposed_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb, const float* beta,
            float* c, const int* ldc);
void dlauum_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dpotrf_(const char* triangle, const int* n, double* a, const int* lda, int* info);
void dsyevd_(const char* job, const char* triangle, const int* n, double* a, const int* lda, double* values,
             double* work, const int* work_size, int* integer_work, const int* integer_work_size, int* info);
void dsyrk_(const char* triangle, const char* transposed, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* beta, double* c, const int* ldc);
void ssyrk_(const char* triangle, const char* transposed, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* beta, float* c, const int* ldc);
void dtrmm_(const char* side, const char* triangle, const char* transposed, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dtrsm_(const char* side, const char* triangle, const char* transposed, const char* diagonal, const int* m,
            const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dtrtri_(const char* triangle, const char* diagonal, const int* n, double* a, const int* lda, int* info);
}

namespace ockham {

inline void blas_syrk(const char* triangle, const char* transposed, const int* n, const int* k, const float* alpha,
                      const float* a, const int* lda, const float* beta, float* c, const int* ldc) {
  ssyrk_(triangle, transposed, n, k, alpha, a, lda, beta, c, ldc);
}
inline void blas_syrk(const char* triangle, const char* transposed, const int* n, const int* k, const double* alpha,
                      const double* a, const int* lda, const double* beta, double* c, const int* ldc) {
  dsyrk_(triangle, transposed, n, k, alpha, a, lda, beta, c, ldc);
}
inline void blas_gemm(const char* transposed_a, const char* transposed_b, const int* m, const int* n, const int* k,
                      const float* alpha, const float* a, const int* lda, const float* b, const int* ldb,
                      const float* beta, float* c, const int* ldc) {
  sgemm_(transposed_a, transposed_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
inline void blas_gemm(const char* transposed_a, const char* transposed_b, const int* m, const int* n, const int* k,
                      const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
                      const double* beta, double* c, const int* ldc) {
  dgemm_(transposed_a, transposed_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace ockham
