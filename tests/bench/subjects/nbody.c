// The Benchmarks Game's n-body: sun and planets, steps of 0.01 days; the value is the energy at the end.
#include "timing.h"

typedef struct {
  double x, y, z, vx, vy, vz, mass;
} Body;

enum { n = 5 };

static const Body planets[n] = {
    {0, 0, 0, 0, 0, 0, 1},
    {4.84143144246472090, -1.16032004402742839, -0.103622044471123109, 0.00166007664274403694,
     0.00769901118419740425, -0.0000690460016972063023, 0.000954791938424326609},
    {8.34336671824457987, 4.12479856412430479, -0.403523417114321381, -0.00276742510726411,
     0.00499852801234917238, 0.0000230417297573763929, 0.000285885980666130812},
    {12.8943695621391310, -15.1111514016986312, -0.223307578892655734, 0.00296460137564761618,
     0.0023784717395948095, -0.0000296589568540237556, 0.0000436624404335156298},
    {15.3796971148509165, -25.9193146099879641, 0.179258772950371181, 0.00268067772490389322,
     0.00162824170038242295, -0.000095159225451971587, 0.0000515138902046611451},
};

static void advance(Body* bodies, double dt) {
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) {
      Body *a = &bodies[i], *b = &bodies[j];
      double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
      double d2 = dx * dx + dy * dy + dz * dz, mag = dt / (d2 * sqrt(d2));
      a->vx -= dx * b->mass * mag;
      a->vy -= dy * b->mass * mag;
      a->vz -= dz * b->mass * mag;
      b->vx += dx * a->mass * mag;
      b->vy += dy * a->mass * mag;
      b->vz += dz * a->mass * mag;
    }
  for (int i = 0; i < n; ++i) {
    bodies[i].x += dt * bodies[i].vx;
    bodies[i].y += dt * bodies[i].vy;
    bodies[i].z += dt * bodies[i].vz;
  }
}

static double energy(const Body* bodies) {
  double e = 0;
  for (int i = 0; i < n; ++i) {
    const Body* a = &bodies[i];
    e += 0.5 * a->mass * (a->vx * a->vx + a->vy * a->vy + a->vz * a->vz);
    for (int j = i + 1; j < n; ++j) {
      const Body* b = &bodies[j];
      double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
      e -= a->mass * b->mass / sqrt(dx * dx + dy * dy + dz * dz);
    }
  }
  return e;
}

APART static double simulate(const Body* start, int64_t steps) {
  Body bodies[n];
  memcpy(bodies, start, sizeof bodies);
  for (int64_t s = 0; s < steps; ++s) advance(bodies, 0.01);
  return energy(bodies);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int64_t steps = argument(argv, 1);
  Body* bodies = allocate(sizeof planets);
  double px = 0, py = 0, pz = 0, e = 0;
  for (int i = 0; i < n; ++i) {
    bodies[i] = planets[i];
    bodies[i].vx *= 365.24, bodies[i].vy *= 365.24, bodies[i].vz *= 365.24, bodies[i].mass *= 4 * M_PI * M_PI;
    px += bodies[i].vx * bodies[i].mass, py += bodies[i].vy * bodies[i].mass,
        pz += bodies[i].vz * bodies[i].mass;
  }
  // The sun moves so that all stays in place.
  bodies[0].vx = -px / bodies[0].mass, bodies[0].vy = -py / bodies[0].mass,
  bodies[0].vz = -pz / bodies[0].mass;
  MEASURE("steps", e, e = simulate(bodies, steps))
  return 0;
}
