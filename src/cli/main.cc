#include <cstdio>
int main() { std::puts("sublane"); return 0; }
