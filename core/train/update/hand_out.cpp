// SPDX-License-Identifier: Apache-2.0
// ShardedUpdate: sends what is divided among the ranks to those that write checkpoints. No rank
// ever has all of it.
#include "core/train/update/sharded_update.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace dts::train {
namespace {

constexpr int k_piece_chunks = 1024;
constexpr std::size_t k_piece_floats = k_piece_chunks * ChunkGrid::k_floats;

// A part of each array that one rank owns.
struct Owned {
  int rank = 0;
  Range floats;
  std::size_t place = 0;  // its offset in what this rank owns of an array
};

// The parts of an array, in order.
std::vector<Owned> owned_parts(const Ownership& ownership) {
  std::vector<Owned> parts;
  std::vector<std::size_t> places(static_cast<std::size_t>(ownership.ranks()));
  for (int bucket = 0; bucket < ownership.buckets(); ++bucket) {
    const std::vector<Range> slices = ownership.slices(bucket);
    for (int rank = 0; rank < ownership.ranks(); ++rank) {
      const Range floats = slices[static_cast<std::size_t>(rank)];
      std::size_t& place = places[static_cast<std::size_t>(rank)];
      if (floats.size() > 0) parts.push_back({rank, floats, place});
      place += floats.size();
    }
  }
  return parts;
}

struct Piece {
  ArrayOf array;
  Span chunks;
  Range floats;
  bool wanted = false;       // by this rank
  Group::Ticket ticket = 0;  // of the last message from or to this rank
};

// The pieces of all arrays, one array after another.
std::vector<Piece> pieces_of(const std::vector<ArrayOf>& arrays,
                             const ChunkGrid& grid,
                             int rank,
                             const ShardedUpdate::Wants& wants) {
  std::vector<Piece> pieces;
  for (const ArrayOf array : arrays)
    for (int chunk = 0; chunk < grid.count(); chunk += k_piece_chunks) {
      const Span chunks{chunk, std::min(chunk + k_piece_chunks, grid.count())};
      const Range floats = grid.floats_of(chunks);
      pieces.push_back({array, chunks, floats, wants(rank, array, floats)});
    }
  return pieces;
}

// Sends what this rank owns of a piece to all ranks that want it, and receives the rest if this
// rank wants it.
class Handing {
 public:
  // Returns the floats, from offset `begin` on, of a part of an array that this rank owns.
  using Own = std::function<const float*(ArrayOf array, const Owned& part, std::size_t begin)>;

  Handing(Comm& comm, const Ownership& ownership, Own own, const ShardedUpdate::Wants& wants)
      : comm_(comm), parts_(owned_parts(ownership)), own_(std::move(own)), wants_(wants) {}

  // `room` [k_piece_floats] has the piece once its ticket is done; nullptr if this rank does not
  // want it.
  void post(Piece& piece, float* room) {
    auto part = std::partition_point(parts_.begin(), parts_.end(), [&](const Owned& one) {
      return one.floats.end <= piece.floats.begin;
    });
    for (; part != parts_.end() && part->floats.begin < piece.floats.end; ++part) {
      const Range floats = part->floats.common(piece.floats);
      float* const to = room == nullptr ? nullptr : room + (floats.begin - piece.floats.begin);
      if (part->rank == comm_.rank())
        send(piece, *part, floats, to);
      else if (to != nullptr)
        piece.ticket = comm_.post_receive(part->rank, to, floats.bytes());
    }
  }

 private:
  void send(Piece& piece, const Owned& part, Range floats, float* to) {
    const float* const values = own_(piece.array, part, floats.begin);
    if (to != nullptr) std::copy_n(values, floats.size(), to);
    for (int rank = 0; rank < comm_.size(); ++rank)
      if (rank != comm_.rank() && wants_(rank, piece.array, piece.floats))
        piece.ticket = comm_.post_send(rank, values, floats.bytes());
  }

  Comm& comm_;
  std::vector<Owned> parts_;
  Own own_;
  const ShardedUpdate::Wants& wants_;
};

}  // namespace

bool ShardedUpdate::distribute_state(const State& state, const Wants& wants, const Take& take) {
  copy_moments_to_host();
  std::vector<ArrayOf> arrays;
  if (!state.has_all) arrays.emplace_back();
  for (std::size_t moment = 0; moment < layout_.moments.size(); ++moment)
    arrays.emplace_back(moment);
  Handing handing(
      comm_,
      ownership_,
      [&](ArrayOf array, const Owned& part, std::size_t begin) -> const float* {
        if (!array) return state.weights.data() + begin;
        return momentum_.data() + *array * own_floats_ + part.place + (begin - part.floats.begin);
      },
      wants);
  std::vector<Piece> pieces = pieces_of(arrays, grid_, comm_.rank(), wants);
  std::array<Buffer, 2> rooms;  // one piece arrives while the other is taken
  const auto room_of = [&](std::size_t index) {
    Buffer& room = rooms[index % rooms.size()];
    if (pieces[index].wanted && room.size() == 0) room = Buffer(k_piece_floats);
    return pieces[index].wanted ? room.data() : nullptr;
  };
  if (!pieces.empty()) handing.post(pieces.front(), room_of(0));
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    if (index + 1 < pieces.size()) handing.post(pieces[index + 1], room_of(index + 1));
    const Piece& piece = pieces[index];
    comm_.wait(piece.ticket);
    if (!piece.wanted) continue;
    if (!piece.array) check_weights(room_of(index), piece.chunks);
    take(piece.array, piece.floats, room_of(index));
  }
  if (state.has_all) return true;
  find_damage();
  return comm_.sum(static_cast<std::int64_t>(findings_.size())) == 0;
}

}  // namespace dts::train
