/* Teams: what each thread of a region works, its waits left out. */

#include "probe.h"

#include <stdlib.h>
#include <string.h>

int mmgp_is_off;

/* Where a thread is. */
THREAD_LOCAL struct {
    struct slot *slot;
    /* Since when it works; 0 while it waits. */
    nanoseconds since;
    /* The team of the regions that it encounters. */
    struct team team;
} place;

int mmgp_is_in_team(void) { return place.slot != NULL; }

struct team *mmgp_team(int threads) {
    if (threads < 1) threads = 1;
    if (place.team.count < threads) {
        struct slot *slots = aligned_alloc(sizeof *slots, (size_t) threads * sizeof *slots);
        if (!slots) return NULL;
        free(place.team.slots);
        memset(slots, 0, (size_t) threads * sizeof *slots);
        place.team.slots = slots;
    }
    place.team.count = threads;
    return &place.team;
}

void mmgp_thread_begins(struct team *team, int index) {
    place.slot = &team->slots[index];
    place.since = now();
    *place.slot = (struct slot) {.begun = place.since};
}

void mmgp_wait_begins(void) {
    if (!place.slot || !place.since) return;
    place.slot->work += now() - place.since;
    place.since = 0;
}

void mmgp_wait_ends(void) {
    if (place.slot && !place.since) place.since = now();
}

void mmgp_thread_leaves(void) {
    place.slot = NULL;
    place.since = 0;
}

/* A task within a wait is work. */
int mmgp_task_begins(void) {
    if (!place.slot || place.since) return 0;
    place.since = now();
    return 1;
}

void mmgp_task_ends(int began) {
    if (began) mmgp_wait_begins();
}

void mmgp_team_ends(struct team *team, const void *code, nanoseconds began) {
    struct region call = {.threads = team->count, .time = now() - began};
    nanoseconds first = 0;
    for (int i = 0; i < team->count; i++) {
        struct slot *slot = &team->slots[i];
        call.work += slot->work;
        if (call.slowest < slot->work) call.slowest = slot->work;
        if ((i || team->count == 1) && (!first || slot->begun < first)) first = slot->begun;
    }
    call.first = first - began;
    mmgp_thread_leaves();
    mmgp_region_ran(mmgp_region(code), &call);
}
