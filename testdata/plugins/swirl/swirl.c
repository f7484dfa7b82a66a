// swirl turns pairs of channels by an angle that grows with the distance from the first row: com.example:Swirl(x [N,2,H,W]).
//
//   zig cc -target wasm32-freestanding -O2 -nostdlib -Wl,--no-entry -Wl,--strip-all -o swirl.wasm swirl.c
#include "../trtui.h"

static const struct {
    word size;
    char text[268];
} manifest = {sizeof manifest.text,
    "{\"abi\":1,\"name\":\"swirl\",\"version\":\"1.0\",\"ops\":[{\"domain\":\"com.example\",\"name\":\"Swirl\","
    "\"doc\":\"turns pairs of channels, more from row to row\","
    "\"attributes\":[{\"name\":\"angle\",\"type\":\"float\",\"default\":0.1}],"
    "\"inputs\":[{\"name\":\"x\",\"types\":[\"f32\"]}],\"outputs\":[{\"name\":\"y\"}]}]}"};

TRTUI_EXPORT(trtui_manifest) const void *trtui_manifest(void) { return &manifest; }

// The only block that there is at a time begins where the module's own memory ends.
extern unsigned char __heap_base;

TRTUI_EXPORT(trtui_alloc) void *trtui_alloc(unsigned size) {
    unsigned long begin = ((unsigned long)&__heap_base + 15) & ~15ul;
    unsigned long need = (begin + size + 65535) >> 16, have = __builtin_wasm_memory_size(0);
    if (need > have && __builtin_wasm_memory_grow(0, need - have) == (unsigned long)-1)
        return 0;
    return (void *)begin;
}

static word answer[16];

static word *refuse(const char *text) {
    char *to = (char *)(answer + 1);
    word n = 0;
    while (text[n] && n < 100) {
        to[n] = text[n];
        n++;
    }
    answer[0] = n;
    return answer;
}

TRTUI_EXPORT(trtui_infer) word *trtui_infer(const word *p) {
    request r = trtui_request(p);
    trtui_attribute(&r);
    tensor x = trtui_tensor(&r);
    if (x.rank != 4 || (x.dims[1] >= 0 && x.dims[1] != 2))
        return refuse("x is [N,2,H,W]");
    answer[0] = 0;
    answer[1] = x.type;
    answer[2] = x.rank;
    for (int i = 0; i < 4; i++)
        answer[3 + i] = x.dims[i];
    return answer;
}

// Sine and cosine by Taylor series, of an angle that is brought near 0 first.
static void turn(double a, double *sine, double *cosine) {
    const double two_pi = 6.283185307179586;
    a -= two_pi * (double)(word)(a / two_pi + (a < 0 ? -0.5 : 0.5));
    double s = 0, c = 0, term = 1;
    for (int n = 1; n < 40; n++) {
        if (n & 1)
            c += ((n - 1) & 2 ? -1 : 1) * term;
        else
            s += ((n - 2) & 2 ? -1 : 1) * term;
        term = term * a / n;
    }
    *sine = s;
    *cosine = c;
}

TRTUI_EXPORT(trtui_eval) word *trtui_eval(const word *p) {
    request r = trtui_request(p);
    attribute angle = trtui_attribute(&r);
    tensor x = trtui_tensor(&r), y = trtui_tensor(&r);
    const float *in = x.data;
    float *out = y.data;
    word height = x.dims[2], width = x.dims[3], plane = height * width;
    if (x.dims[1] != 2)
        return refuse("x has other than 2 channels");
    for (word n = 0; n < x.dims[0]; n++)
        for (word h = 0; h < height; h++) {
            double s, c;
            turn(*(const double *)angle.at * (double)h, &s, &c);
            for (word w = 0; w < width; w++) {
                word i = n * 2 * plane + h * width + w;
                out[i] = (float)(c * in[i] - s * in[i + plane]);
                out[i + plane] = (float)(s * in[i] + c * in[i + plane]);
            }
        }
    return 0;
}
