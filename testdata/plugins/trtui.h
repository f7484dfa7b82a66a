// What a plugin written in C needs of the interface; docs/plugins.md describes it. All of a request is words of 64 bits.
#ifndef TRTUI_H
#define TRTUI_H

typedef long long word;

typedef struct {
    word kind, count; // 1: integers, 2: double, 3: bytes
    const void *at;
} attribute;

typedef struct {
    word type, rank; // ONNX's number of the type; 0: left out
    const word *dims;
    void *data;
    word bytes;
} tensor;

typedef struct {
    word op, attributes, inputs, outputs;
    const word *next;
} request;

static inline request trtui_request(const word *p) {
    request r = {p[0], p[1], p[2], p[3], p + 4};
    return r;
}

static inline attribute trtui_attribute(request *r) {
    attribute a = {r->next[0], r->next[1], r->next + 2};
    r->next += 2 + (a.kind == 3 ? (a.count + 7) / 8 : a.count);
    return a;
}

static inline tensor trtui_tensor(request *r) {
    tensor t = {r->next[0], r->next[1], r->next + 2, 0, 0};
    r->next += 2 + t.rank;
    t.data = (void *)(__SIZE_TYPE__)r->next[0];
    t.bytes = r->next[1];
    r->next += 2;
    return t;
}

#define TRTUI_EXPORT(name) __attribute__((export_name(#name)))

#endif
