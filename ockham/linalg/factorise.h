// Private to linalg/: the Cholesky factorisation in place, with the threads that pay at the matrix's size.
#pragma once

namespace ockham {

/// Overwrites the lower triangle of a symmetric n × n matrix, stored by columns, with its factor; the upper one is left
/// alone. Returns 0, or the order of the leading minor that is not positive. One BLAS thread below n = 1000; two
/// threads share the products from n = 256 on, where this thread may use them: the last bits then differ from one
/// thread's.
int factorise(double* columns, int n);

}  // namespace ockham
