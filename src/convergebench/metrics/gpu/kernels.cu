// Pixel metrics of batches of pairs. Images stay as they are decoded: 8 bit, row by row, R G B R G B …
// Level k of the pyramid holds the sums of 4^k pixels in 16 bit, which is exact: 255 · 4⁴ < 65536.
// Images are given as addresses, so that nothing is copied together. Every block writes its own partial sums, and those
// are added in a fixed order: the same batch gives the same bits each time. No headers are needed.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define THREADS 256   // of every kernel here
#define STRIP 170     // rows of results that one block walks down
// TAPS, WEIGHTS, C1 and C2 are given by `compiling.py`, from the processor's code
#define EDGE (3 * (TAPS - 1))  // columns of three channels

__device__ __forceinline__ float weight(int k) {  // unrolled: each becomes a constant
  constexpr float weights[TAPS] = {WEIGHTS};
  return weights[k];
}

__device__ __forceinline__ double warp_sum(double value) {
  for (int step = 16; step; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
  return value;
}

// Sums over the block of COUNT values per thread, written by its first threads.
template <int COUNT>
__device__ void block_sums(const double (&values)[COUNT], double* out) {
  __shared__ double shared[THREADS / 32][COUNT];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int i = 0; i < COUNT; i++) {
    const double sum = warp_sum(values[i]);
    if (lane == 0) shared[warp][i] = sum;
  }
  __syncthreads();
  if (threadIdx.x < COUNT) {
    double sum = 0;
    for (int i = 0; i < THREADS / 32; i++) sum += shared[i][threadIdx.x];
    out[threadIdx.x] = sum;
  }
}

// SSIM in sums and differences of the two images, s = x + y − 256 and d = y − x:
//   1 − contrast·structure = var(d) / ((var(s) + var(d)) / 2 + C2),  1 − luminance = mean(d)² / ((mean(s)² + mean(d)²) / 2 + C1)
// One thread owns one channel of one column. It blurs across from a line in shared memory and down from a ring of its
// last eleven results in registers, so that nothing between the pixels and the sums goes to memory.
template <typename T>
__device__ void structure(const u64* pointers, int pairs, int height, int width, float unit, double* out) {
  __shared__ float2 line[2][THREADS + EDGE];
  const int pair = blockIdx.z, t = threadIdx.x, stride = width * 3;
  const T* x = (const T*)pointers[pair];
  const T* y = (const T*)pointers[pairs + pair];
  const int column = blockIdx.x * THREADS + t, beyond = column + THREADS;
  const int top = blockIdx.y * STRIP, bottom = min(top + STRIP, height - TAPS + 1) + TAPS - 1;
  const bool has = column < stride, has_more = t < EDGE && beyond < stride, counts = column < stride - EDGE;

  float s[TAPS], d[TAPS], ss[TAPS], dd[TAPS];
  float lost_contrast = 0, lost_ssim = 0;
  int px = 0, py = 0, qx = 0, qy = 0;
  {
    const long long at = (long long)top * stride;
    if (has) { px = x[at + column]; py = y[at + column]; }
    if (has_more) { qx = x[at + beyond]; qy = y[at + beyond]; }
  }
  for (int base = top; base < bottom; base += TAPS) {
#pragma unroll
    for (int phase = 0; phase < TAPS; phase++) {
      const int row = base + phase;
      if (row < bottom) {  // no `break`: the ring is in registers only if this loop is unrolled
      float2* now = line[row & 1];
      now[t] = make_float2((px + py) * unit - 256.f, (py - px) * unit);
      if (t < EDGE) now[THREADS + t] = make_float2((qx + qy) * unit - 256.f, (qy - qx) * unit);
      __syncthreads();
      if (row + 1 < bottom) {  // on its way while this row is worked on
        const long long at = (long long)(row + 1) * stride;
        if (has) { px = x[at + column]; py = y[at + column]; }
        if (has_more) { qx = x[at + beyond]; qy = y[at + beyond]; }
      }
      float a = 0, b = 0, aa = 0, bb = 0;
#pragma unroll
      for (int k = 0; k < TAPS; k++) {
        const float2 v = now[t + 3 * k];
        const float ws = weight(k) * v.x, wd = weight(k) * v.y;
        a += ws; b += wd;
        aa = fmaf(ws, v.x, aa); bb = fmaf(wd, v.y, bb);
      }
      s[phase] = a; d[phase] = b; ss[phase] = aa; dd[phase] = bb;
      if (row - top >= TAPS - 1) {
        float ms = 0, md = 0, mss = 0, mdd = 0;
#pragma unroll
        for (int k = 0; k < TAPS; k++) {
          const int slot = (phase + 1 + k) % TAPS;
          const float w = weight(k);
          ms = fmaf(w, s[slot], ms); md = fmaf(w, d[slot], md);
          mss = fmaf(w, ss[slot], mss); mdd = fmaf(w, dd[slot], mdd);
        }
        const float shift = md * md, bright = ms + 256.f;
        const float var_d = mdd - shift, var_s = mss - ms * ms;
        const float lost = __fdividef(var_d, 0.5f * (var_s + var_d) + C2);
        const float dark = __fdividef(shift, 0.5f * fmaf(bright, bright, shift) + C1);
        lost_contrast += lost;
        lost_ssim += fmaf(dark, 1.f - lost, lost);
      }
      }
    }
  }
  double sums[6] = {0, 0, 0, 0, 0, 0};
  const int channel = column % 3;
#pragma unroll
  for (int c = 0; c < 3; c++) {
    sums[c] = counts && channel == c ? lost_contrast : 0.f;
    sums[3 + c] = counts && channel == c ? lost_ssim : 0.f;
  }
  __syncthreads();
  block_sums(sums, out + 6ll * ((pair * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x));
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
structure_8(const u64* pointers, int pairs, int height, int width, double* out) {
  structure<u8>(pointers, pairs, height, width, 1.f, out);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4)
structure_16(const u64* pointers, int pairs, int height, int width, float unit, double* out) {
  structure<u16>(pointers, pairs, height, width, unit, out);
}

// Sums of 2×2 pixels. `padded` is 1 where a side is odd: the first row and column are then repeated.
template <typename T>
__device__ void halve(const u64* sources, int width, int padded, int half_height, int half_width, u16* out) {
  const T* image = (const T*)sources[blockIdx.y];
  const int stride = width * 3, half_stride = half_width * 3, total = half_height * half_stride;
  u16* mine = out + (long long)blockIdx.y * total;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < total; i += gridDim.x * THREADS) {
    const int row = i / half_stride, rest = i - row * half_stride, column = rest / 3, channel = rest - column * 3;
    const int upper = max(2 * row - padded, 0), lower = 2 * row - padded + 1;
    const int left = max(2 * column - padded, 0), right = 2 * column - padded + 1;
    const T* above = image + (long long)upper * stride + channel;
    const T* below = image + (long long)lower * stride + channel;
    mine[i] = (u16)((u32)above[left * 3] + above[right * 3] + below[left * 3] + below[right * 3]);
  }
}

extern "C" __global__ void halve_8(const u64* sources, int width, int padded, int half_height, int half_width, u16* out) {
  halve<u8>(sources, width, padded, half_height, half_width, out);
}

extern "C" __global__ void halve_16(const u64* sources, int width, int padded, int half_height, int half_width, u16* out) {
  halve<u16>(sources, width, padded, half_height, half_width, out);
}

// Sums of squared differences, exact.
extern "C" __global__ void squares(const u64* pointers, int pairs, int bytes, u64* out) {
  __shared__ u64 shared[THREADS / 32];
  const int pair = blockIdx.y;
  const u8* x = (const u8*)pointers[pair];
  const u8* y = (const u8*)pointers[pairs + pair];
  u64 total = 0;
  const bool aligned = ((pointers[pair] | pointers[pairs + pair]) & 15) == 0;
  const int quads = aligned ? bytes / 16 : 0;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < quads; i += gridDim.x * THREADS) {
    const uint4 a = ((const uint4*)x)[i], b = ((const uint4*)y)[i];
    u32 sum = 0, apart;
    apart = __vabsdiffu4(a.x, b.x); sum = __dp4a(apart, apart, sum);
    apart = __vabsdiffu4(a.y, b.y); sum = __dp4a(apart, apart, sum);
    apart = __vabsdiffu4(a.z, b.z); sum = __dp4a(apart, apart, sum);
    apart = __vabsdiffu4(a.w, b.w); sum = __dp4a(apart, apart, sum);
    total += sum;
  }
  for (int i = quads * 16 + blockIdx.x * THREADS + threadIdx.x; i < bytes; i += gridDim.x * THREADS) {
    const int apart = (int)x[i] - (int)y[i];
    total += (u32)(apart * apart);
  }
  for (int step = 16; step; step >>= 1) total += __shfl_down_sync(0xffffffffu, total, step);
  if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = total;
  __syncthreads();
  if (threadIdx.x == 0) {
    u64 sum = 0;
    for (int i = 0; i < THREADS / 32; i++) sum += shared[i];
    out[pair * gridDim.x + blockIdx.x] = sum;
  }
}

// GMSD on level 1 of the pyramid: sums of 1 − similarity of gradients, and of its square. Zeros outside.
__device__ __forceinline__ float luma(const u16* image, int row, int column, int height, int width) {
  if (row < 0 || column < 0 || row >= height || column >= width) return 0.f;
  const u16* at = image + 3ll * (row * width + column);
  return 0.25f * (0.299f * at[0] + 0.587f * at[1] + 0.114f * at[2]);
}

__device__ __forceinline__ float squared_gradient(const u16* image, int row, int column, int height, int width) {
  float v[3][3];
#pragma unroll
  for (int i = 0; i < 3; i++)
#pragma unroll
    for (int j = 0; j < 3; j++) v[i][j] = luma(image, row + i - 1, column + j - 1, height, width);
  const float across = ((v[0][0] + v[1][0] + v[2][0]) - (v[0][2] + v[1][2] + v[2][2])) * (1.f / 3);
  const float down = ((v[0][0] + v[0][1] + v[0][2]) - (v[2][0] + v[2][1] + v[2][2])) * (1.f / 3);
  return fmaf(across, across, down * down);
}

extern "C" __global__ void gradients(const u64* pointers, int pairs, int height, int width, float stability, double* out) {
  const int pair = blockIdx.y, total = height * width;
  const u16* x = (const u16*)pointers[pair];
  const u16* y = (const u16*)pointers[pairs + pair];
  double sums[2] = {0, 0};
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < total; i += gridDim.x * THREADS) {
    const int row = i / width, column = i - row * width;
    const float gx = squared_gradient(x, row, column, height, width), gy = squared_gradient(y, row, column, height, width);
    const float missing = 1.f - (2.f * sqrtf(gx * gy) + stability) / (gx + gy + stability);
    sums[0] += missing;
    sums[1] += (double)missing * missing;
  }
  block_sums(sums, out + 2ll * (pair * gridDim.x + blockIdx.x));
}

// CIEDE2000, pixel by pixel; the angles are carried as unit vectors, as on the processor.
struct Lab { float l, a, b; };

__device__ __forceinline__ float lab_root(float share) {
  return share <= 0.008856f ? fmaf(share, 7.787f, 16.f / 116) : cbrtf(share);
}

__device__ __forceinline__ Lab lab(const u8* at, const float* linear) {
  const float r = linear[at[0]], g = linear[at[1]], b = linear[at[2]];
  const float fx = lab_root((0.412453f * r + 0.357580f * g + 0.180423f * b) * (1 / 0.95047f));
  const float fy = lab_root(0.212671f * r + 0.715160f * g + 0.072169f * b);
  const float fz = lab_root((0.019334f * r + 0.119193f * g + 0.950227f * b) * (1 / 1.08883f));
  return {116.f * fy - 16.f, 500.f * (fx - fy), 200.f * (fy - fz)};
}

__device__ __forceinline__ float saturating(float chroma) {
  const float unit = chroma * (1.f / 25), square = unit * unit, seventh = square * square * square * unit;
  return sqrtf(seventh / (seventh + 1.f));
}

__device__ float colour_difference(Lab one, Lab two) {
  const float stretch = 1.5f - 0.5f * saturating(0.5f * (sqrtf(one.a * one.a + one.b * one.b) + sqrtf(two.a * two.a + two.b * two.b)));
  const float a1 = one.a * stretch, a2 = two.a * stretch, b1 = one.b, b2 = two.b;
  const float c1 = sqrtf(a1 * a1 + b1 * b1), c2 = sqrtf(a2 * a2 + b2 * b2), chroma = 0.5f * (c1 + c2), product = c1 * c2;
  // rounded before the difference: for equal colours it is exactly 0
  const float cross = __fmul_rn(a1, b2) - __fmul_rn(a2, b1), dot = a1 * a2 + b1 * b2;
  float hue = dot > 0 ? cross / sqrtf(fmaxf(0.5f * (product + dot), 1e-12f)) : copysignf(sqrtf(fmaxf(2.f * (product - dot), 0.f)), cross);
  float c = a1 * c2 + a2 * c1, s = b1 * c2 + b2 * c1;
  if (product <= 1e-12f) { c = a1 + a2; s = b1 + b2; }
  const float length = sqrtf(c * c + s * s);
  if (length == 0) { c = 1; s = 0; } else { c /= length; s /= length; }
  const float cc = c * c - s * s, ss = 2 * c * s, c3 = c * cc - s * ss, s3 = s * cc + c * ss, c4 = cc * cc - ss * ss, s4 = 2 * cc * ss;
  const float weight = 1.f - 0.17f * (0.8660254f * c + 0.5f * s) + 0.24f * cc + 0.32f * (0.99452190f * c3 - 0.10452846f * s3) - 0.20f * (0.45399050f * c4 + 0.89100652f * s4);
  const float lightness = 0.5f * (one.l + two.l) - 50.f, square = lightness * lightness;
  const float dl = (two.l - one.l) / (1.f + 0.015f * square / sqrtf(20.f + square));
  const float dc = (c2 - c1) / (1.f + 0.045f * chroma);
  hue /= 1.f + 0.015f * chroma * weight;
  const float x = c * 0.087155743f - s * 0.99619470f, y = s * 0.087155743f + c * 0.99619470f;
  const float offset = atan2f(y, x) * (57.29577951f / 25);
  const float rotation = -2.f * saturating(chroma) * sinf(1.04719755f * expf(-offset * offset));
  return sqrtf(fmaxf(dl * dl + dc * dc + hue * hue + rotation * dc * hue, 0.f));
}

extern "C" __global__ void colours(const u64* pointers, int pairs, int pixels, const float* linear, double* out) {
  __shared__ float table[256];
  table[threadIdx.x] = linear[threadIdx.x];
  __syncthreads();
  const int pair = blockIdx.y;
  const u8* x = (const u8*)pointers[pair];
  const u8* y = (const u8*)pointers[pairs + pair];
  double sums[1] = {0};
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < pixels; i += gridDim.x * THREADS)
    sums[0] += colour_difference(lab(x + 3ll * i, table), lab(y + 3ll * i, table));
  block_sums(sums, out + pair * gridDim.x + blockIdx.x);
}

// LPIPS of one layer: Σ over channels of w · (feature / |feature| − kept)², summed over positions. Features are stored
// position by position (channels last); a warp works on one position, its lanes on every 32nd channel.
template <typename T> __device__ __forceinline__ float value_of(T stored);
template <> __device__ __forceinline__ float value_of<float>(float stored) { return stored; }
template <> __device__ __forceinline__ float value_of<u16>(u16 stored) { return __uint_as_float((u32)stored << 16); }  // bfloat16

template <typename T>
__device__ void unit_length(const T* features, const u64* kept, const float* weights, int positions, int channels, double* out) {
  const int image = blockIdx.y, lane = threadIdx.x & 31, warps = THREADS / 32;
  const T* feature = features + (long long)image * positions * channels;
  const float* reference = (const float*)kept[image];
  double total[1] = {0};
  for (int position = blockIdx.x * warps + (threadIdx.x >> 5); position < positions; position += gridDim.x * warps) {
    const T* f = feature + (long long)position * channels;
    const float* k = reference + (long long)position * channels;
    float mine[16], length = 0, sum = 0;
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int c = lane + 32 * i;
      mine[i] = c < channels ? value_of<T>(f[c]) : 0.f;
      length = fmaf(mine[i], mine[i], length);
    }
    for (int step = 16; step; step >>= 1) length += __shfl_xor_sync(0xffffffffu, length, step);
    const float scale = 1.f / (sqrtf(length) + 1e-10f);  // as in the original: a position without activation stays at 0
#pragma unroll
    for (int i = 0; i < 16; i++) {
      const int c = lane + 32 * i;
      if (c < channels) {
        const float apart = __fmul_rn(mine[i], scale) - k[c];  // rounded as what is kept: equal features have exactly 0
        sum = fmaf(weights[c] * apart, apart, sum);
      }
    }
    total[0] += sum;
  }
  block_sums(total, out + image * gridDim.x + blockIdx.x);
}

extern "C" __global__ void unit_length_32(const float* features, const u64* kept, const float* weights, int positions, int channels, double* out) {
  unit_length<float>(features, kept, weights, positions, channels, out);
}

extern "C" __global__ void unit_length_16(const u16* features, const u64* kept, const float* weights, int positions, int channels, double* out) {
  unit_length<u16>(features, kept, weights, positions, channels, out);
}

// What is kept of a reference: its features at length 1.
template <typename T>
__device__ void to_unit(const T* features, int positions, int channels, float* out) {
  const int lane = threadIdx.x & 31, warps = THREADS / 32;
  for (int position = blockIdx.x * warps + (threadIdx.x >> 5); position < positions; position += gridDim.x * warps) {
    const T* f = features + (long long)position * channels;
    float length = 0;
    for (int c = lane; c < channels; c += 32) { const float v = value_of<T>(f[c]); length = fmaf(v, v, length); }
    for (int step = 16; step; step >>= 1) length += __shfl_xor_sync(0xffffffffu, length, step);
    const float scale = 1.f / (sqrtf(length) + 1e-10f);
    for (int c = lane; c < channels; c += 32) out[(long long)position * channels + c] = __fmul_rn(value_of<T>(f[c]), scale);
  }
}

extern "C" __global__ void to_unit_32(const float* features, int positions, int channels, float* out) { to_unit<float>(features, positions, channels, out); }
extern "C" __global__ void to_unit_16(const u16* features, int positions, int channels, float* out) { to_unit<u16>(features, positions, channels, out); }

// Pixels as a network wants them: the table holds, per channel, what becomes of each of the 256 values. Squares of
// `fold` × `fold` pixels become the channels of one place, so that a convolution with that stride is one without; zeros
// lie around the image.
template <typename T>
__device__ void look_up(const u64* sources, const T* table, int height, int width, int fold, int padding, int rows, int columns, T* out) {
  const u8* image = (const u8*)sources[blockIdx.y];
  const int deep = 3 * fold * fold, total = rows * columns * deep;
  T* mine = out + (long long)total * blockIdx.y;
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < total; i += gridDim.x * THREADS) {
    const int place = i / deep, inside = i - place * deep, channel = inside % 3, pixel = inside / 3;
    const int row = place / columns * fold + pixel / fold - padding, column = place % columns * fold + pixel % fold - padding;
    const bool there = row >= 0 && column >= 0 && row < height && column < width;
    mine[i] = there ? table[channel * 256 + image[3ll * (row * width + column) + channel]] : (T)0;
  }
}

extern "C" __global__ void look_up_32(const u64* sources, const u32* table, int height, int width, int fold, int padding, int rows, int columns, u32* out) {
  look_up<u32>(sources, table, height, width, fold, padding, rows, columns, out);
}

extern "C" __global__ void look_up_16(const u64* sources, const u16* table, int height, int width, int fold, int padding, int rows, int columns, u16* out) {
  look_up<u16>(sources, table, height, width, fold, padding, rows, columns, out);
}
