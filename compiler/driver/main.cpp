#include "driver/driver.h"

int main(int argc, char** argv) { return melix::driver::runMelix({argv + 1, argv + argc}); }
